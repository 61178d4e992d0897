import { FAILED_OUTSIDE } from '../../marketplace/checkout/failing-callers.ts'
import { CONTRACT_QUESTIONS } from '../../marketplace/stable/contract-payers.ts'
import { CHECKS_WAITING_MAX } from '../../marketplace/stable/facilitators.ts'
import { NEWCOMERS } from '../../marketplace/stable/newcomers.ts'
import { FAILED_ANY, UNPAID_OF_CLIENT } from '../../marketplace/stable/payers.ts'

/** Bounds of the dollar rail, and of failed calls of both rails: what, value, unit, where it stands. */
export const DOLLAR_LIMITS: readonly (readonly [string, number, string, string])[] = [
  [
    'signatures of one dollar payer that facilitators are asked about for one client, where they are not of its own key',
    CONTRACT_QUESTIONS.ofPayer,
    'a minute',
    'marketplace/stable/contract-payers.ts',
  ],
  [
    'such signatures of all payers that have not paid lately',
    CONTRACT_QUESTIONS.ofAll,
    'a minute',
    'marketplace/stable/contract-payers.ts',
  ],
  [
    "payers of such signatures that the node of the token's chain is asked about",
    CONTRACT_QUESTIONS.ofCode,
    'a minute',
    'marketplace/stable/contract-payers.ts',
  ],
  [
    'refused dollar payments of a client, beside as many as it paid',
    NEWCOMERS.refused,
    'a minute',
    'marketplace/stable/newcomers.ts',
  ],
  [
    'the same while a facilitator takes few questions',
    NEWCOMERS.refusedWhileScarce,
    'a minute',
    'marketplace/stable/newcomers.ts',
  ],
  [
    'those of payers without the money, as the chain says',
    NEWCOMERS.short,
    'a minute',
    'marketplace/stable/newcomers.ts',
  ],
  [
    'open checks of a client for payers who have not paid lately',
    NEWCOMERS.atOnce,
    '',
    'marketplace/stable/newcomers.ts',
  ],
  ['balances of dollar payers that are asked for', NEWCOMERS.balances, 'a minute', 'marketplace/stable/newcomers.ts'],
  [
    'failed dollar calls of a payer, beside as many as it paid',
    FAILED_ANY.ofPayer,
    '10 minutes',
    'marketplace/stable/payers.ts',
  ],
  [
    'failed dollar calls of a client, beside as many as it paid',
    FAILED_ANY.ofClient,
    '10 minutes',
    'marketplace/stable/payers.ts',
  ],
  [
    'those of a payer that reach out or use a model',
    FAILED_OUTSIDE.ofPayer,
    '10 minutes',
    'marketplace/checkout/failing-callers.ts',
  ],
  [
    'those of a client, beside as many as it paid',
    FAILED_OUTSIDE.ofClient,
    '10 minutes',
    'marketplace/checkout/failing-callers.ts',
  ],
  [
    'the same of calls paid in coins, beside good ones; a payer with more goes behind all others',
    FAILED_OUTSIDE.ofPayer,
    '10 minutes',
    'marketplace/checkout/failing-callers.ts',
  ],
  ['and of a client', FAILED_OUTSIDE.ofClient, '10 minutes', 'marketplace/checkout/failing-callers.ts'],
  [
    'works of a client whose settlement was refused or is open, beside as many as it paid',
    UNPAID_OF_CLIENT,
    '10 minutes',
    'marketplace/stable/payers.ts',
  ],
  [
    'dollar payments that wait to be checked by a facilitator',
    CHECKS_WAITING_MAX,
    '',
    'marketplace/stable/facilitators.ts',
  ],
]
