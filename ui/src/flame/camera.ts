// SPDX-License-Identifier: Apache-2.0
// Where one looks: the part of the layout that is shown, and how far it is scrolled (in device pixels), at rest or on the way
// to somewhere else.

import { type Range, betweenRanges } from "./range.ts";

const MOTION_MS = 240;

interface Motion {
  from: Range;
  to: Range;
  fromScroll: number;
  toScroll: number;
  began: number;
}

export class Camera {
  range: Range;
  scroll = 0;
  private motion: Motion | null = null;

  constructor(range: Range) {
    this.range = range;
  }

  get isMoving(): boolean {
    return this.motion !== null;
  }

  /** Where it will be when it rests. */
  get goal(): Range {
    return this.motion?.to ?? this.range;
  }

  get goalScroll(): number {
    return this.motion?.toScroll ?? this.scroll;
  }

  jump(to: Range, scroll = this.scroll): void {
    this.motion = null;
    this.range = to;
    this.scroll = scroll;
  }

  glide(to: Range, scroll: number, now: number): void {
    this.motion = { from: this.range, to, fromScroll: this.scroll, toScroll: scroll, began: now };
  }

  /** Goes on with a glide; fast at first, then slower. True when it has arrived just now. */
  advance(now: number): boolean {
    const { motion } = this;
    if (!motion) return false;
    const t = Math.min(1, Math.max(0, (now - motion.began) / MOTION_MS));
    const eased = 1 - (1 - t) ** 3;
    this.range = betweenRanges(motion.from, motion.to, eased);
    this.scroll = motion.fromScroll + (motion.toScroll - motion.fromScroll) * eased;
    if (t < 1) return false;
    this.motion = null;
    return true;
  }
}
