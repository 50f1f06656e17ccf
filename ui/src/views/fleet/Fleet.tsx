// SPDX-License-Identifier: Apache-2.0

export function Fleet() {
  return <div class="view" />;
}
