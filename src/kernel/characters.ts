/** Whether a text has so many characters, counted as PostgreSQL counts them. One of a megabyte is not counted. */
export function hasCharacters(text: string, min: number, max: number): boolean {
  if (text.length > 2 * max) return false;
  const characters = Array.from(text).length;
  return characters >= min && characters <= max;
}
