/*
 * What a spec imports from '@jest/globals', in a process of Node that has no Jest around it: the same registration
 * (jest-circus), the same matchers (@jest/expect) and the same spies (jest-mock).
 */
import { ModuleMocker } from 'jest-mock';

export { jestExpect as expect } from '@jest/expect';
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';

export const jest = new ModuleMocker(globalThis);
