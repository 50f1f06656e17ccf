// SPDX-License-Identifier: Apache-2.0

//! A program with a known hot spot that sends its profiles with the official crate, and prints how many nanoseconds of CPU
//! time it took: rustsender URL SECONDS

use pyroscope::backend::{pprof_backend, BackendConfig, PprofConfig};
use pyroscope::pyroscope::PyroscopeAgentBuilder;
use std::time::{Duration, Instant};

#[inline(never)]
fn hot_rust(until: Instant) -> u64 {
    let mut n = 1u64;
    while Instant::now() < until {
        for i in 0..20_000u64 {
            n = std::hint::black_box(n.wrapping_mul(31).wrapping_add(i));
        }
    }
    n
}

/// The CPU time of the main thread.
fn cpu_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let times = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(times.split(' ').next().unwrap_or("").parse()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let end = Instant::now() + Duration::from_secs(arguments[2].parse()?);
    let backend = pprof_backend(PprofConfig { sample_rate: 100 }, BackendConfig::default());
    let agent = PyroscopeAgentBuilder::new(&arguments[1], "rust-sender", 100, "pyroscope-rs", "2.1.5", backend)
        .tags(vec![("region", "eu-5")])
        .build()?
        .start()?;
    let (add_tag, remove_tag) = agent.tag_wrapper();
    // Once, since the profiler makes a report and starts anew at every change of tags.
    add_tag("handler".into(), "/ship".into())?;
    std::hint::black_box(hot_rust(end));
    remove_tag("handler".into(), "/ship".into())?;
    agent.stop()?.shutdown();
    println!("{}", cpu_ns()?);
    Ok(())
}
