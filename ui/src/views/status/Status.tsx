// SPDX-License-Identifier: Apache-2.0

export function Status() {
  return <div class="view" />;
}
