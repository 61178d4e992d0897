import { escapeMarkup } from '../discovery/plain-text.ts'

/** Markup that is sound: everything in it that others wrote is escaped. Made by {@link html} alone. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | readonly Html[]

/** Markup with values in it; text is escaped, markup is not, and nothing else goes in. Attributes are to be quoted. */
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
