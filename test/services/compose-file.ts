/** What YAML is to us: texts, lists, maps. */
export type Yaml = string | readonly Yaml[] | { readonly [name: string]: Yaml };

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

class YamlError extends Error {
  override readonly name = 'YamlError';
  constructor(line: Line | undefined, what: string) {
    super(`line ${line?.number ?? 'last'}: ${what}`);
  }
}

/**
 * The part of YAML that docker/compose.yaml is written in: maps and lists by indentation, lists in brackets on one line, plain and
 * quoted texts, anchors of maps and `<<`. Whatever else is an error, so that the file stays that simple.
 */
export function parseYaml(text: string): Yaml {
  const lines = text
    .split('\n')
    .map((line, i) => ({ indent: line.search(/\S/), text: withoutComment(line).trim(), number: i + 1 }))
    .filter((line) => line.text !== '');
  const reader = new Reader(lines);
  const value = reader.block(0);
  reader.assertEnd();
  return value;
}

const withoutComment = (line: string): string => line.replace(/(^|\s)#.*$/, '');

class Reader {
  private at = 0;
  private readonly anchors = new Map<string, Yaml>();

  constructor(private readonly lines: readonly Line[]) {}

  assertEnd(): void {
    if (this.at < this.lines.length) throw new YamlError(this.lines[this.at], 'is indented like nothing before it');
  }

  block(indent: number): Yaml {
    const line = this.lines[this.at];
    if (line === undefined || line.indent < indent) throw new YamlError(line, 'a value is missing');
    return line.text.startsWith('- ') ? this.list(line.indent) : this.map(line.indent);
  }

  private list(indent: number): Yaml {
    const items: Yaml[] = [];
    for (
      let line = this.lines[this.at];
      line?.indent === indent && line.text.startsWith('- ');
      line = this.lines[this.at]
    ) {
      this.at++;
      items.push(scalar(line.text.slice(2).trim(), line));
    }
    return items;
  }

  private map(indent: number): Yaml {
    const entries: Record<string, Yaml> = {};
    for (let line = this.lines[this.at]; line?.indent === indent; line = this.lines[this.at]) {
      const match = /^([\w.<-]+):(?:\s+(.*))?$/.exec(line.text);
      if (match === null) throw new YamlError(line, `'${line.text}' is no NAME: VALUE`);
      this.at++;
      const [, name, rest = ''] = match;
      if (name in entries) throw new YamlError(line, `${name} stands twice`);
      const [, anchor, inline = ''] = /^(?:&(\w+)\s*)?(.*)$/.exec(rest) ?? [];
      const value = name === '<<' ? this.alias(inline, line) : this.valueOf(inline, indent, line);
      if (anchor !== undefined) this.anchors.set(anchor, value);
      if (name === '<<') for (const [key, merged] of Object.entries(value)) entries[key] ??= merged;
      else entries[name] = value;
    }
    return entries;
  }

  private valueOf(inline: string, indent: number, line: Line): Yaml {
    if (inline !== '') return scalar(inline, line);
    const next = this.lines[this.at];
    // `database:` alone, as volumes are declared.
    return next !== undefined && next.indent > indent ? this.block(next.indent) : '';
  }

  private alias(text: string, line: Line): Yaml {
    const value = this.anchors.get(text.replace(/^\*/, ''));
    if (value === undefined || typeof value === 'string') throw new YamlError(line, `${text} is no map that is known`);
    return value;
  }
}

function scalar(text: string, line: Line): Yaml {
  if (text.startsWith('[')) {
    if (!text.endsWith(']')) throw new YamlError(line, 'a list in brackets stands on one line');
    const items = [...text.slice(1, -1).matchAll(/\s*("(?:[^"\\]|\\.)*"|[^,"]+)\s*(?:,|$)/g)];
    return items.map(([, item]) => scalar(item.trim(), line));
  }
  if (text.startsWith('"')) return JSON.parse(text);
  if (/^['{|>&*!%@`]|: |\s#/.test(text)) throw new YamlError(line, `${text}: write it plain or in double quotes`);
  return text;
}
