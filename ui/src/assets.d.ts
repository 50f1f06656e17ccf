// SPDX-License-Identifier: Apache-2.0
// What esbuild takes beside scripts.

declare module "*.css";
