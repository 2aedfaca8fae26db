import type { Row } from '../harness/bench.js';
import type { Finding } from '../harness/finding.js';
import { withPostgres } from '../harness/postgres.js';
import { amongFinished } from './growth-finished.js';
import { amongIdle } from './growth-idle.js';
import { amongWaiting } from './growth-waiting.js';

/** Row 6: what much of something costs that is not being worked on. */
export const growthRow: Row = {
  title: 'growth',
  run: (bench) =>
    withPostgres(true, async (postgres) => {
      const findings: Finding[] = [];
      for (const part of [amongFinished, amongWaiting, amongIdle]) {
        try {
          findings.push(...(await part(bench, postgres)));
        } catch (error) {
          bench.failed(`row 6, ${part.name}`, error);
        }
      }
      return findings;
    }),
};
