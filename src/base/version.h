// SPDX-License-Identifier: Apache-2.0
#pragma once

/* The version of this build, from the file VERSION: "0.1.0". */
const char *version_text(void);
