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

/** HMACs of texts under a key of this process. They are valid until the process ends. */
export class Marks {
  readonly #secret = randomBytes(32)

  /** 43 characters. `purpose` keeps marks of one kind from being valid as another. */
  of(purpose: string, text: string): string {
    return createHmac('sha256', this.#secret).update(`${purpose}\n${text}`).digest('base64url')
  }

  isOf(mark: string | undefined, purpose: string, text: string): boolean {
    return sameText(mark ?? '', this.of(purpose, text))
  }
}

/** Compares texts in a time that reveals only their length. */
export function sameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
