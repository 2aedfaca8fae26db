import { expect, it } from '@jest/globals';
import type { Repository } from 'typeorm';
import type { TxEventEntity } from '../../../src/modules/events/infrastructure/typeorm-tx-history.js';
import { TypeormTxHistory } from '../../../src/modules/events/infrastructure/typeorm-tx-history.js';
import { DatabaseUnavailable } from '../../../src/platform/database/database-errors.js';

it('a database that shuts down while events are read is a trouble that passes, and no fault of ours', async () => {
  const shutdown = Object.assign(new Error('terminating connection'), { code: '57P01' });
  const find = (): Promise<never> => Promise.reject(shutdown);
  const history = new TypeormTxHistory({ find } as unknown as Repository<TxEventEntity>);
  await expect(history.of('tx-1')).rejects.toBeInstanceOf(DatabaseUnavailable);
});
