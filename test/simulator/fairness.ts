import type { DueRow, Snapshot } from './snapshot.js';
import { Violation } from './violation.js';

/**
 * Rounds in a row in which a signer with something due may be passed over while another one is served (docs/invariants.md, F1). Every page of
 * `Turns` has room for each of the three signers here, so one round is enough; the pause of a signer whose work failed (`SignerBackoff`), and a lease
 * that changes hands in the middle of a round, cost one more each.
 */
export const MOST_ROUNDS = 3;

/** How long signers wait in the lists of their owners, in rounds of all jobs. */
export class Fairness {
  private waiting = new Map<string, number>();

  /**
   * After a round. What is due no more, or later, was taken.
   * @param nowMs when the round began, by the clock of the database
   * @param nodes that took part
   */
  round(before: Snapshot, now: Snapshot, nowMs: number, nodes: ReadonlySet<string>): void {
    const left = new Set(now.due.map(keyOf));
    const owned = ownedBy(nodes, before).filter((signer) => ownedBy(nodes, now).includes(signer));
    const due = before.due.filter(({ at, signer }) => at <= nowMs && owned.includes(signer));
    const passedOver = new Map<string, number>();
    for (const list of new Set(due.map((row) => row.list))) {
      const ofList = due.filter((row) => row.list === list);
      const served = new Set(ofList.filter((row) => !left.has(keyOf(row))).map(({ signer }) => signer));
      if (served.size === 0) continue;
      for (const { signer } of ofList)
        if (!served.has(signer))
          passedOver.set(`${list} of ${signer}`, (this.waiting.get(`${list} of ${signer}`) ?? 0) + 1);
      for (const signer of served) passedOver.delete(`${list} of ${signer}`);
      for (const [key, rounds] of passedOver)
        if (rounds > MOST_ROUNDS) throw new Violation('F1', `${key} waited ${rounds} rounds, while others were served`);
    }
    this.waiting = passedOver;
  }
}

function ownedBy(nodes: ReadonlySet<string>, { leases }: Snapshot): string[] {
  return leases.flatMap(({ signer, owner, isLive }) => (isLive && nodes.has(owner) ? [signer] : []));
}

function keyOf({ list, id, at, tries }: DueRow): string {
  return `${list} ${id} ${at} ${tries}`;
}
