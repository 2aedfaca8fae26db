import { registerDecorator } from 'class-validator';

/** A rule for a text, or for every text of a list. */
export function Each(name: string, message: string, holds: (text: string) => boolean): PropertyDecorator {
  return (prototype, key) =>
    registerDecorator({
      name,
      target: prototype.constructor,
      propertyName: String(key),
      options: { message },
      validator: {
        validate: (value: unknown) =>
          (Array.isArray(value) ? value : [value]).every((item: unknown) => typeof item === 'string' && holds(item)),
      },
    });
}
