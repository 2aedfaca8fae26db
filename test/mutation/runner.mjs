import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { register } from 'node:module';
import path from 'node:path';
import { nearestFirst, nearestSpecs, relatedSpecs } from './related-specs.mjs';
import { loadSpec, runTests } from './spec-file.mjs';

/*
 * Runs the unit specs for Stryker, all in one process and without Jest around them. Jest makes a new world for every file of every
 * run: one fault then costs seconds; here it costs milliseconds, because a fault is switched on in code that is loaded already.
 * The registration, the matchers and the spies are those of Jest.
 *
 * A fault in code that runs while its module loads is loaded afresh, with the specs nearest to that module only: to load all specs
 * that reach a table of constants would take a minute for each. A fault that only a farther spec would find then counts as survived.
 */

register('./hooks.mjs', import.meta.url);

class UnitTestRunner {
  #state = (globalThis.__stryker__ ??= {});
  #loaded = new Map();
  #loads = 0;

  capabilities() {
    return { reloadEnvironment: true };
  }

  /** Runs what is related to the files with faults, and notes which test reaches which fault. */
  async dryRun({ files }) {
    this.#state.mutantCoverage = { static: {}, perTest: {} };
    const specs = relatedSpecs(files.map(relative));
    const result = await this.#run(specs, { isChosen: () => true, bail: false });
    return { ...result, mutantCoverage: this.#state.mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, sandboxFileName, mutantActivation, hitLimit, disableBail }) {
    const afresh = mutantActivation === 'static';
    const chosen = testFilter && new Set(testFilter);
    const source = relative(sandboxFileName);
    const specs = testFilter ? specsOf(testFilter, source) : nearestSpecs(source);
    // What is kept for other faults has to be loaded without one.
    if (!afresh) for (const spec of specs) await this.#spec(spec);
    Object.assign(this.#state, { activeMutant: activeMutant.id, hitCount: hitLimit && 0, hitLimit });
    const options = { isChosen: (id) => chosen?.has(id) ?? true, bail: !disableBail, afresh };
    const result = await this.#run(specs, options);
    const endless = determineHitLimitReached(this.#state.hitCount, hitLimit);
    Object.assign(this.#state, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
    return toMutantRunResult(endless ?? result, disableBail);
  }

  async #run(specs, { isChosen, bail, afresh = false }) {
    const tests = [];
    if (afresh) this.#loads += 1;
    try {
      for (const spec of specs) {
        const loaded = afresh ? await loadSpec(spec, this.#loads) : await this.#spec(spec);
        for await (const result of this.#results(loaded, isChosen)) {
          tests.push(result);
          if (bail && hasFailed(result)) return { status: DryRunStatus.Complete, tests };
        }
      }
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: error.stack ?? String(error) };
    }
    return { status: DryRunStatus.Complete, tests };
  }

  async *#results(spec, isChosen) {
    const enter = (id) => (this.#state.currentTestId = id);
    for await (const { id, errors, milliseconds } of runTests(spec, isChosen, enter)) {
      const result = { id, name: id, fileName: path.resolve(spec.file), timeSpentMs: milliseconds };
      if (errors.length === 0) yield { ...result, status: TestStatus.Success };
      else yield { ...result, status: TestStatus.Failed, failureMessage: String(errors[0]?.stack ?? errors[0]) };
    }
  }

  async #spec(file) {
    const spec = this.#loaded.get(file) ?? (await loadSpec(file, 0));
    this.#loaded.set(file, spec);
    return spec;
  }
}

const hasFailed = ({ status }) => status === TestStatus.Failed;

/** The files of tests, whose ids begin with them, nearest to `source` first: those find a fault soonest. */
function specsOf(ids, source) {
  const specs = new Set(ids.map((id) => id.slice(0, id.indexOf(' '))));
  return nearestFirst(source).filter((spec) => specs.has(spec));
}

const relative = (file) => path.relative(process.cwd(), file);

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'unit', UnitTestRunner)];
