// SPDX-License-Identifier: Apache-2.0
// Where the page begins.

import { render } from "preact";
import "./style/tokens.css";

render(<main>hearth</main>, document.getElementById("app")!);
