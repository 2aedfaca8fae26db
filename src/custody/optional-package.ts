/**
 * Loads a package that only some custodies need, and that is not installed by default.
 * @throws Error that says how to install it
 */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`a custody of chains[].signers needs the package ${name}: npm install ${name}`, { cause: error });
  }
}
