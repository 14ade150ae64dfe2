/** A node of a parsed XML text, as XPath 1.0 sees it. `order` is its place in the document. */
export interface XmlNode {
  readonly kind: 'root' | 'element' | 'attribute' | 'text' | 'comment' | 'instruction';
  /** As written, with its prefix; of text and comments ''. */
  readonly name: string;
  /** Of attributes, text, comments and instructions. */
  readonly value: string;
  readonly parent: XmlNode | undefined;
  readonly children: XmlNode[];
  readonly attributes: XmlNode[];
  readonly order: number;
}

/** The text of a node: of an element, all the text inside. */
export function stringValue(node: XmlNode): string {
  if (node.kind !== 'element' && node.kind !== 'root') return node.value;
  let text = '';
  for (const child of node.children) {
    if (child.kind === 'element') text += stringValue(child);
    else if (child.kind === 'text') text += child.value;
  }
  return text;
}
