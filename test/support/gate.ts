export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Holds whoever awaits it until the test opens it. */
export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
