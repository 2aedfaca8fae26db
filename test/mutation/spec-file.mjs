import { getState, resetState } from 'jest-circus';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { jest } from '../runner/jest-globals.mjs';

/** Imports a spec; returns its tests in order, each with the blocks around it. `load` other than 0 loads all modules again. */
export async function loadSpec(file, load) {
  resetState();
  const url = pathToFileURL(path.resolve(file));
  if (load > 0) url.search = `load=${String(load)}`;
  await import(url.href);
  return { file, tests: [...testsOf(getState().rootDescribeBlock, file, [])] };
}

function* testsOf(block, title, outer) {
  const blocks = [...outer, block];
  for (const child of block.children) {
    const name = `${title} ${child.name}`;
    if (child.type === 'describeBlock') yield* testsOf(child, name, blocks);
    else yield { id: name, run: child.fn, blocks };
  }
}

/** Runs the chosen tests one after the other and yields a result for each; `enter` hears the id while one runs. */
export async function* runTests({ tests }, isChosen, enter) {
  const open = [];
  const closeUntil = async (isNeeded) => {
    while (open.length > 0 && !isNeeded(open.at(-1))) await runHooks([open.pop()], 'afterAll');
  };
  try {
    for (const test of tests.filter(({ id }) => isChosen(id))) {
      await closeUntil((block) => test.blocks.includes(block));
      for (const block of test.blocks.filter((one) => !open.includes(one))) {
        open.push(block);
        await runHooks([block], 'beforeAll');
      }
      enter(test.id);
      const result = await runTest(test);
      enter(undefined);
      yield result;
    }
  } finally {
    // Also when whoever asks has seen enough.
    await closeUntil(() => false);
  }
}

async function runTest({ id, run, blocks }) {
  const start = performance.now();
  const errors = [];
  const note = (error) => errors.push(error);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  jest.restoreAllMocks();
  try {
    await runHooks(blocks, 'beforeEach');
    await run();
  } catch (error) {
    note(error);
  }
  await runHooks(blocks.toReversed(), 'afterEach').catch(note);
  // A rejection that nobody awaits is told one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note).off('uncaughtException', note);
  return { id, errors, milliseconds: performance.now() - start };
}

async function runHooks(blocks, type) {
  for (const block of blocks) for (const hook of block.hooks) if (hook.type === type) await hook.fn();
}
