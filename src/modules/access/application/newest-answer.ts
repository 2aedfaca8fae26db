/** The answer to the newest question that was answered. One that comes late does not know of what was changed after it was asked, and is dropped. */
export class NewestAnswer<T> {
  private current: T | null = null;
  private asked = 0;
  /** The question that `current` answers. */
  private answered = 0;

  /** Null before the first answer. */
  get value(): T | null {
    return this.current;
  }

  async ask(question: () => Promise<T>): Promise<void> {
    const number = ++this.asked;
    const answer = await question();
    if (number < this.answered) return;
    this.answered = number;
    this.current = answer;
  }
}
