/**
 * A wall clock that is wrong, for one process: NODE_OPTIONS=--import=<this file> and CLOCK_SHIFT_MS. The monotonic clock and
 * the timers stay right, as they do on a machine whose clock was set wrong.
 */
const shift = Number(process.env['CLOCK_SHIFT_MS'] ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
