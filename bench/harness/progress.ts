/** What the reader sees while it runs. */
export class Progress {
  private readonly start = performance.now();

  say(line: string): void {
    const seconds = Math.floor((performance.now() - this.start) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    print(`[${clock.padStart(6)}] ${line}`);
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
