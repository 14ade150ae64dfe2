/** Hive's patterns of names: `*` is any text, `|` between alternatives, letter case does not matter. */
export function nameMatcher(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const alternatives = pattern
    .toLowerCase()
    .split('|')
    .map((part) =>
      part
        .trim()
        .split('*')
        .map((text) => text.replace(/[.\\+?^${}()[\]]/g, '\\$&'))
        .join('.*'),
    );
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 's');
  return (name) => expression.test(name);
}
