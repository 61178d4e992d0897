import type { Body, Paid } from './facilitator.ts'

export const HASH = 'ab'.repeat(32)

/** A change that a test makes to a good body. */
export type Change = (body: Body, paid: Paid) => void

/** Changes fields of the requirements. */
export const asked =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements, fields)
/** Changes fields of the requirements' `extra`. */
export const extra =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements.extra as object, fields)
export const payload =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.payload as object, fields)
/** Changes fields of the requirements that the payer accepted. */
export const accepted =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.accepted as object, fields)

/** Changes fields of the requirements, as asked and as accepted. */
export const both =
  (fields: object): Change =>
  (body, paid) => {
    asked(fields)(body, paid)
    accepted(fields)(body, paid)
  }
