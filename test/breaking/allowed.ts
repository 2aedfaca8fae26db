/**
 * Changes since the version before that break clients, as the check names them, each with the reason why the version in package.json stays.
 * The list is emptied when the version is raised.
 */
export const ALLOWED: readonly { readonly change: string; readonly because: string }[] = [
  {
    change:
      'GET /api/v1/tx/{txId}/explain: the response property `facts/blockedBy/anyOf[#/components/schemas/BlockedByDto]/txId` became nullable for the status `200` [response-property-became-nullable]',
    because: 'null only where there is another account, and no version before this one has accounts',
  },
  {
    change:
      'GET /api/v1/events: changed the pattern of the `header` request parameter `last-event-id` from `^[0-9]{1,19}-[0-9]{1,18}-[0-9]$` to `^$|^[0-9]{1,19}-[0-9]{1,18}-[0-9]$` [request-parameter-pattern-changed]',
    because: 'the pattern takes more than before: an empty header, which was always taken like none',
  },
];
