import type { Body, Paid } from './facilitator.ts'

/** A hash of nothing in particular. */
export const HASH = 'ab'.repeat(32)

/** Something done to a good body. */
export type Change = (body: Body, paid: Paid) => void

/** Puts fields into what is asked for. */
export const asked =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements, fields)
/** Puts fields into its `extra`. */
export const extra =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements.extra as object, fields)
/** Puts fields into the payload. */
export const payload =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.payload as object, fields)
/** Puts fields into what the payer accepted. */
export const accepted =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.accepted as object, fields)

/** Puts fields into what is asked for and accepted. */
export const both =
  (fields: object): Change =>
  (body, paid) => {
    asked(fields)(body, paid)
    accepted(fields)(body, paid)
  }
