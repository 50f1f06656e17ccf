// SPDX-License-Identifier: Apache-2.0

export function Explore() {
  return <div class="view" />;
}
