import { parseHTML } from 'linkedom'
import type { CleanPage, TreeStep } from './clean-page.ts'
import { TextWriter } from './text-writer.ts'

const ELEMENT = 1
const TEXT = 3

/** Each caller gets a new tree, because readers change it. */
export function treeOf({ head, body, lang, title }: CleanPage): Document {
  const markup = '<!doctype html><html><head><title></title></head><body></body></html>'
  const document = parseHTML(markup).document as unknown as Document
  if (lang !== null) document.documentElement.setAttribute('lang', lang)
  if (title !== null) (document.querySelector('title') as Element).textContent = title
  build(document, document.head, head)
  build(document, document.body, body)
  return document
}

function build(document: Document, root: Element, steps: readonly TreeStep[]): void {
  let at = root
  for (const step of steps) {
    if (step === null) at = at.parentElement ?? root
    else if (typeof step === 'string') at.appendChild(document.createTextNode(step))
    else {
      const element = document.createElement(step.tag)
      for (const [name, value] of step.attributes) element.setAttribute(name, value ?? '')
      at.appendChild(element)
      at = element
    }
  }
}

/** The readable text of a tree. */
export function textOf(root: Element): string {
  const writer = new TextWriter()
  walk(root, writer)
  return writer.toString()
}

function walk(parent: Node, writer: TextWriter): void {
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === TEXT) writer.text(node.nodeValue ?? '')
    else if (node.nodeType === ELEMENT) {
      const tag = (node as Element).localName
      writer.open(tag)
      walk(node, writer)
      writer.close(tag)
    }
  }
}

/** How much of a tree is kept. */
export interface TreeLimits {
  readonly charsMax: number
  readonly elementsMax: number
}

/** Removes everything after the limits. Returns whether anything was removed. */
export function pruneTree(root: Element, limits: TreeLimits): boolean {
  return pruneChildren(root, { chars: limits.charsMax, elements: limits.elementsMax })
}

function pruneChildren(parent: Node, left: { chars: number; elements: number }): boolean {
  let isPruned = false
  for (let node: ChildNode | null = parent.firstChild; node !== null; ) {
    const next: ChildNode | null = node.nextSibling
    if (left.chars <= 0 || left.elements <= 0) {
      parent.removeChild(node)
      isPruned = true
    } else if (node.nodeType === TEXT) left.chars -= node.nodeValue?.length ?? 0
    else if (node.nodeType === ELEMENT) {
      left.elements -= 1
      if (pruneChildren(node, left)) isPruned = true
    }
    node = next
  }
  return isPruned
}
