// SPDX-License-Identifier: Apache-2.0
// Traces: searching them, and looking at one.

import { route } from "../../lib/route.ts";
import { Search } from "./Search.tsx";
import { TraceView } from "./TraceView.tsx";
import "./Traces.css";

export function Traces() {
  const { rest } = route.value;
  return rest ? <TraceView key={rest} id={rest} /> : <Search />;
}
