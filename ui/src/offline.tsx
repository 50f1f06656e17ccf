// SPDX-License-Identifier: Apache-2.0
// The self-contained file that `hearth convert x out.html` writes: one flame graph, no server.

import { render } from "preact";
import "./style/tokens.css";

render(<main>hearth</main>, document.getElementById("app")!);
