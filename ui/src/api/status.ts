// SPDX-License-Identifier: Apache-2.0
// The server about itself: /api/v1/status (what came from whom, queues, listeners, options) and /api/v1/stats (what the store
// holds). Fields that an older or newer server may leave out are optional here, and the page shows what is there.

import { getJson } from "./client.ts";

/** What came from one sender about one service. Times are texts as ISO 8601 has them. */
export interface Source {
  tenant: string;
  service: string;
  sender: string;
  uploads: number;
  seen: number;
  stored: number;
  downsampled: number;
  weighted: number;
  spilled: number;
  dropped: Record<string, number>; // by reason
  samples: number;
  bytes: number;
  first_seen: string | null;
  last_seen: string | null;
  last_error_at: string | null;
  last_error: string;
}

/** A program that the server asks for profiles by itself. */
export interface ScrapeTarget {
  job: string;
  kind: string;
  instance: string;
  url: string;
  result: string;
  last_scrape: string | null;
  last_success: string | null;
  seconds: number;
  bytes: number;
  scrapes: number;
  failures: number;
  failures_in_row: number;
  last_error: string;
}

/** An option of the server as it is in force. */
export interface EffectiveOption {
  name: string;
  value: string | string[] | null; // null: not set, and there is no default
  origin: string; // default, flag, environment, file
  where: string; // the flag, variable or file and line that set it
}

export interface Status {
  version: string;
  started: string;
  ready: boolean;
  listeners: { name: string; address: string }[];
  aliases: { given: string; option: string }[];
  queue: Record<string, number>;
  queries: Record<string, number>;
  spill: Record<string, number>;
  connections: number;
  sources: Source[];
  scrape: ScrapeTarget[];
  options?: EffectiveOption[];
  retention?: Record<string, number | null>;
  limits?: Record<string, number | null>; // null: none
  traces?: SignalLimits;
  metrics?: SignalLimits;
}

/** How long and how much of traces or metrics is kept; null: no limit. */
export interface SignalLimits {
  retention_seconds: number | null;
  retention_bytes: number | null;
}

/** What is kept of traces or metrics. */
export interface SignalStats {
  days: number;
  damaged: number;
  spans?: number; // of traces alone
  first_ns: number | null;
  last_ns: number | null;
  disk_bytes: number;
}

export interface Amount {
  n: number;
  bytes: number;
}

export interface Stats {
  days: number;
  open_days: number;
  quarantined: number;
  damaged: number;
  first_ns: number | null;
  last_ns: number | null;
  rows: number;
  samples: number;
  closed_samples: number;
  disk_bytes: number;
  written_bytes: number;
  bytes_per_sample: number;
  write_amplification: number;
  files: Record<string, number>;
  values: Record<string, Amount>;
  dictionary: Record<string, Amount>;
  top_series: { series: string; bytes: number; rows: number; samples: number }[];
  traces?: SignalStats;
  metrics?: SignalStats;
  services?: { tenant?: string; service: string; bytes: number; rows: number; samples: number }[];
}

export async function getStatus(signal?: AbortSignal): Promise<Status> {
  return (await getJson<Status>("status", {}, signal)).data;
}

export async function getStats(signal?: AbortSignal): Promise<Stats> {
  return (await getJson<Stats>("stats", { rows: 20 }, signal)).data;
}
