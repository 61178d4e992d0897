/** The part of turndown that is used here; the package brings no types of its own. */
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
