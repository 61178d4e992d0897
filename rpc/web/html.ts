import { escapeMarkup } from '../discovery/plain-text.ts'

/** Markup that goes out as it is. {@link html} makes it from texts, which it escapes. The constructor does not escape. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | readonly Html[]

/** Markup from a template: escapes texts and numbers, but not {@link Html}. Attributes must be quoted. */
export function html(fixed: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(fixed.reduce((whole, text, i) => whole + textOf(values[i - 1] as Part) + text))
}

/** No markup. */
export const NOTHING = new Html('')

function textOf(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escapeMarkup(String(part))
  return part.map(({ text }) => text).join('')
}
