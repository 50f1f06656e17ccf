// SPDX-License-Identifier: Apache-2.0

export function Compare() {
  return <div class="view" />;
}
