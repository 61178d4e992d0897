import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A token of a browser: 32 random bytes. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** A fresh token. */
export function freshToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text has the form of a token. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && TOKEN.test(text)
}

/** Makes unforgeable marks of texts and verifies them. They are valid until the process ends. */
export class Marks {
  readonly #secret = randomBytes(32)

  /** 43 characters. The purpose keeps marks of one kind from being good as another. */
  of(purpose: string, text: string): string {
    return createHmac('sha256', this.#secret).update(`${purpose}\n${text}`).digest('base64url')
  }

  /** Takes as long whether they are alike or not. */
  isOf(mark: string | undefined, purpose: string, text: string): boolean {
    return sameText(mark ?? '', this.of(purpose, text))
  }
}

/** Compares texts in a time that says only how long they are. */
export function sameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
