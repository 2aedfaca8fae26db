import { JudgeSends } from '../../src/modules/transactions/application/judge-sends.js';
import type { Provider } from './container.js';
import type { Seen } from './seen.js';

/** The product's judge, whose verdicts are counted. */
export function watchedJudge(seen: Seen): Provider {
  class WatchedJudge extends JudgeSends {
    override async execute(...sends: Parameters<JudgeSends['execute']>): ReturnType<JudgeSends['execute']> {
      const judged = await super.execute(...sends);
      for (const { verdict } of judged) seen.note(`verdict ${verdict.kind}`);
      return judged;
    }
  }
  return { provide: JudgeSends, useClass: WatchedJudge };
}
