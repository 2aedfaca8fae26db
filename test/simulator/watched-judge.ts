import { ClassifySends } from '../../src/modules/sending/application/classify-sends.js';
import type { Provider } from '../support/container.js';
import type { Seen } from './seen.js';

/** The product's judge, whose verdicts are counted. */
export function watchedJudge(seen: Seen): Provider {
  class WatchedJudge extends ClassifySends {
    override async execute(...sends: Parameters<ClassifySends['execute']>): ReturnType<ClassifySends['execute']> {
      const judged = await super.execute(...sends);
      for (const { verdict } of judged) seen.note(`verdict ${verdict.kind}`);
      return judged;
    }
  }
  return { provide: ClassifySends, useClass: WatchedJudge };
}
