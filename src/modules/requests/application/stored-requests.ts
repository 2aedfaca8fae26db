import { Injectable } from '@nestjs/common';
import { AskTogether } from '../../../platform/scheduling/ask-together.js';
import { type RequestKey, TxIntake } from '../../ledger/index.js';

/**
 * Whether a request was stored before. A repeated one is answered with what is stored, and no rule and no limit of its signer refuses it: its client got no
 * answer, and must not take it for unsent and send another.
 */
export type IsRepeated = () => Promise<boolean>;

/** Asks when somebody wants to know it, until it is so: the first of two requests may be stored while the second one is looked at. */
export function askedUntilStored(ask: IsRepeated): IsRepeated {
  let isStored = false;
  return async () => (isStored ||= await ask());
}

/** @param assert throws what refuses it, unless it is a repeated one */
export async function unlessRepeated(isRepeated: IsRepeated, assert: () => void | Promise<void>): Promise<void> {
  try {
    await assert();
  } catch (refusal) {
    if (!(await isRepeated())) throw refusal;
  }
}

/** Looks up requests for transactions: all of a batch, and all that come in one go, in one statement. What is accepted costs none, unless its signer has a limit. */
@Injectable()
export class StoredRequests {
  private readonly lookUps: AskTogether<RequestKey>;

  constructor(intake: TxIntake) {
    this.lookUps = new AskTogether((keys) => intake.areStored(keys));
  }

  lookUp(key: RequestKey): IsRepeated {
    return askedUntilStored(() => this.lookUps.of(key));
  }
}
