/** HTTP headers that carry a payment: that of x402 version 2, then that of version 1. */
export const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const
