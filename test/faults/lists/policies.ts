import { faults, int } from '../fault.js';

/** What counts of the daily amounts of a policy. */
export const POLICIES = faults(int('policies'), [
  {
    id: 'spending-of-a-day-for-ever',
    in: 'policy_settle_spending',
    text: 'p.counts_until <= statement_timestamp()',
    becomes: 'false',
    why: 'what was spent long ago stays in the table',
  },
  {
    id: 'spending-settled-too-early',
    in: 'policy_settle_spending',
    text: `AND s.status = 'HELD')`,
    becomes: `AND s.status = 'NONE')`,
    why: 'what is in flight counts as nothing',
  },
  {
    id: 'spending-of-what-reverted',
    in: 'policy_settle_spending',
    text: `CASE WHEN t.state = 'CONFIRMED' THEN t.value ELSE 0 END`,
    becomes: 't.value',
    why: 'the value of what reverted never comes back',
  },
  {
    id: 'spending-without-the-rest',
    in: 'policy_settle_spending',
    text: `(t.receipt ->> 'gasUsed')::numeric * (t.receipt ->> 'effectiveGasPrice')::numeric`,
    becomes: 'NULL',
    why: 'fees that were not paid never come back',
  },
  {
    id: 'spending-of-one-instant',
    in: 'policy_settle_spending',
    text: `interval '24 hours 1 minute'`,
    becomes: `interval '23 hours'`,
    why: 'more than the daily amount is spent within a day',
  },
  {
    id: 'reserve-without-the-old',
    in: 'policy_reserve_in_flight',
    text: `t.kind = 'payload'\n       AND`,
    becomes: `t.kind = 'fill'\n       AND`,
    why: 'what was in flight before there was a policy does not count',
  },
  {
    id: 'reserve-of-the-old-stays-low',
    in: 'policy_reserve_in_flight',
    text: 'DO UPDATE SET value = greatest(r.value, excluded.value), fees = greatest(r.fees, excluded.fees)',
    becomes: 'DO NOTHING',
    why: 'what took the place of a transaction while there was no policy counts as that one',
  },
  {
    id: 'reserve-of-the-old-at-the-caps',
    in: 'policy_reserve_in_flight',
    text: 'max(coalesce(\n             signed.fees,',
    becomes: 'max(coalesce(\n             NULL::numeric,',
    why: 'what was in flight before there was a policy is bumped above the daily amount',
  },
  {
    id: 'no-late-reserve',
    in: 'make',
    text: 'limited.map((signer) => ({ signer, ...this.caps.of(signer) }))',
    becomes: '[]',
    why: 'what becomes final without a reserve never counts as spent',
  },
  {
    id: 'spent-without-reserves',
    in: 'policy_spent',
    text: 'coalesce(r.value, 0) + coalesce(p.value, 0) AS value',
    becomes: 'coalesce(p.value, 0) AS value',
    why: 'what is in flight is not counted, and more is sent than the policy allows',
  },
  {
    id: 'reserved-of-another-nonce',
    in: 'policy_reserved',
    text: 'AND r.nonce = w.nonce',
    becomes: 'AND r.nonce <> w.nonce',
    why: 'a bump is bound by the reserve of another transaction',
  },
  {
    id: 'reserve-that-sinks',
    in: 'policy_reserve',
    text: 'SET value = greatest(r.value, excluded.value)',
    becomes: 'SET value = least(r.value, excluded.value)',
    why: 'a replacement of a higher value does not count',
  },
]);
