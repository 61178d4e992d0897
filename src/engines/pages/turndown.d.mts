/** Markdown from a tree. The package brings no types, and only the used part is described. */
declare module 'turndown' {
  interface Rule {
    filter: string | string[] | ((node: Element) => boolean)
    replacement: (content: string, node: Element) => string
  }

  class TurndownService {
    constructor(options: Readonly<Record<string, string | boolean>>)
    addRule(name: string, rule: Rule): this
    escape(text: string): string
    turndown(node: Element): string
  }

  export = TurndownService
}
