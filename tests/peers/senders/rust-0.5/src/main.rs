// SPDX-License-Identifier: Apache-2.0

//! The same with the crate as it was before 2.0, which posts to /ingest: oldrustsender URL SECONDS

use pyroscope::PyroscopeAgent;
use pyroscope_pprofrs::{pprof_backend, PprofConfig};
use std::time::{Duration, Instant};

#[inline(never)]
fn hot_old_rust(until: Instant) -> u64 {
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
    let agent = PyroscopeAgent::builder(arguments[1].as_str(), "old-rust-sender")
        .backend(pprof_backend(PprofConfig::new().sample_rate(100)))
        .tags(vec![("region", "eu-6")])
        .build()?
        .start()?;
    let (add_tag, remove_tag) = agent.tag_wrapper();
    // Once, since the profiler makes a report and starts anew at every change of tags.
    add_tag("handler".into(), "/pack".into())?;
    std::hint::black_box(hot_old_rust(end));
    remove_tag("handler".into(), "/pack".into())?;
    agent.stop()?.shutdown();
    println!("{}", cpu_ns()?);
    Ok(())
}
