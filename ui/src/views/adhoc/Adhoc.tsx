// SPDX-License-Identifier: Apache-2.0
export function Adhoc() {
  return <div>x</div>;
}
