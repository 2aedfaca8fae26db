import { Portion } from '../../../platform/scheduling/portion.js';

const FIRST = '00000000-0000-0000-0000-000000000000';
const MOST_AT_ONCE = 1_000;

/** Reads at most `most` enabled endpoints with ids above `after`, in the order of their ids. */
type ReadPage<Row> = (after: string, most: number) => Promise<readonly Row[]>;

/** Reads all enabled endpoints in short statements (docs/invariants.md, F5). */
export class EnabledEndpoints {
  private readonly portion = new Portion(MOST_AT_ONCE);

  async readAll<Row extends { readonly endpoint_id: string }>(read: ReadPage<Row>): Promise<Row[]> {
    const all: Row[] = [];
    let isLast: boolean;
    do {
      isLast = await this.portion.take(async (most) => {
        const rows = await read(all.at(-1)?.endpoint_id ?? FIRST, most);
        all.push(...rows);
        return rows.length < most;
      });
    } while (!isLast);
    return all;
  }
}
