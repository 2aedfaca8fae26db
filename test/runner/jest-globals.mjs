/*
 * What a spec imports from '@jest/globals', in a process of Node that has no Jest around it: the same registration
 * (jest-circus), the same matchers (@jest/expect), the same spies (jest-mock) and the same timers (@jest/fake-timers).
 */
import { ModernFakeTimers } from '@jest/fake-timers';
import { getState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

export { jestExpect as expect } from '@jest/expect';
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';

const mocks = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

export const jest = {
  fn: (...args) => mocks.fn(...args),
  spyOn: (...args) => mocks.spyOn(...args),
  restoreAllMocks: () => mocks.restoreAllMocks(),
  useFakeTimers: (config) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  getTimerCount: () => timers.getTimerCount(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  setTimeout: (ms) => void (getState().testTimeout = ms),
};
