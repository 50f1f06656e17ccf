// SPDX-License-Identifier: Apache-2.0
// Files that somebody brings along, apart from what the server collects: /adhoc lists them, /adhoc/ID shows one, and
// /adhoc/ID?against=ID2 what became of it.

import { route } from "../../lib/route.ts";
import { FileList } from "./FileList.tsx";
import { FileView } from "./FileView.tsx";
import "./adhoc.css";

export function Adhoc() {
  const { rest } = route.value;
  return rest ? <FileView key={rest} id={rest} /> : <FileList />;
}
