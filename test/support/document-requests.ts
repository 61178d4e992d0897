const SELLER = {
  name: 'Nordlicht Werkstatt GmbH',
  address: 'Hafenstraße 12\n20457 Hamburg\nGermany',
  vatId: 'DE123456788',
  email: 'billing@nordlicht.example',
  iban: 'DE89 3704 0044 0532 0130 00',
}

/** A receipt of a shop whose prices include VAT, with two rates and a discount. */
export const GROSS_RECEIPT: Readonly<Record<string, unknown>> = {
  receiptNumber: 'R-2026-0312',
  seller: { ...SELLER, iban: undefined },
  buyer: { name: 'Åsa Öberg' },
  items: [
    { description: 'Kaffeekanne, emailliert', qty: 1, unitPrice: '29.99' },
    { description: 'Kaffee, gemahlen, 500 g', qty: 3, unitPrice: '9.99', vatPercent: 7 },
  ],
  pricesIncludeVat: true,
  discount: { percent: 5 },
  vatRate: 19,
  payment: { method: 'Card ending in 4242', paidOn: '2026-11-20' },
  deliveryDate: '2026-11-19',
  currency: 'EUR',
  issueDate: '2026-11-22',
}

/** One whole request for each kind of document, with letters of several scripts. */
export const DOCUMENT_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'node-invoice-pdf': {
    invoiceNumber: '2026-0142',
    seller: SELLER,
    buyer: { name: 'Zażółć Gęślą Jaźń Sp. z o.o.', address: 'ul. Świętokrzyska 3/5\n00-049 Warszawa\nPolska' },
    items: [
      { description: 'Consulting on the migration of the archive, October 2026', qty: 12.5, unitPrice: '96.40' },
      { description: 'Prüfgerät „Größe M“, wall mount included', qty: 3, unitPrice: 249.9 },
      { description: 'Αθήνα: μεταφορά και εγκατάσταση', qty: 1, unitPrice: 180 },
      { description: 'Доставка и настройка оборудования, Київ', qty: 2, unitPrice: '75.255' },
      { description: 'Storage, price of € 0.0215 a gigabyte and month', qty: 1840, unitPrice: '0.0215' },
    ],
    vatRate: 19,
    currency: 'EUR',
    issueDate: '2026-11-22',
    dueDate: '2026-12-06',
    notes: 'Please pay within 14 days. Prices are in euro (€).\nThank you: it was a pleasure to work with you.',
  },
  'node-invoice-proforma': {
    proformaNumber: 'PF-2026-007',
    seller: SELLER,
    buyer: { name: 'Sakura Trading', address: 'Minato-ku 1-2-3\nTokyo' },
    items: [
      { description: 'Measuring instrument, series A', qty: 4, unitPrice: 38500 },
      { description: 'Freight by air, insured', qty: 1, unitPrice: 12900 },
    ],
    vatRate: 10,
    currency: 'JPY',
    issueDate: '2026-11-22',
    validUntil: '2026-12-31',
  },
  'node-receipt-payment': {
    receiptNumber: 'R-2026-0311',
    seller: SELLER,
    buyer: { name: 'Åsa Öberg' },
    items: [{ description: 'Annual membership', qty: 1, unitPrice: '120.00' }],
    payment: { method: 'Card ending in 4242', reference: 'ch_3PqZ8Y2eZvKYlo2C', paidOn: '2026-11-20' },
    vatRate: 25,
    currency: 'SEK',
    issueDate: '2026-11-22',
  },
  'node-credit-note': {
    creditNoteNumber: 'CN-2026-003',
    buyer: { name: 'Al Salam Trading W.L.L.' },
    originalInvoice: '2026-0142',
    items: [
      { description: 'Returned: wall mount', qty: 2, unitPrice: '-24.7505' },
      { description: 'Restocking fee', qty: 1, unitPrice: '5.000' },
    ],
    vatRate: '5',
    currency: 'KWD',
    issueDate: '2026-11-22',
    notes: 'The amount will be set off against your next invoice.',
  },
  'node-quote-estimate': {
    quoteNumber: 'Q-2026-019',
    seller: { ...SELLER, iban: undefined },
    buyer: { name: 'Bibliothèque de l’Étoile', address: '7, rue des Frères-Voisin\n75015 Paris' },
    items: Array.from({ length: 34 }, (_, i) => ({
      description: `Shelf ${i + 1}: oak, oiled, ${60 + i} cm${i % 5 === 0 ? ', with adjustable feet, a back panel in felt and brackets for walls that are out of true' : ''}`,
      qty: (i % 4) + 1,
      unitPrice: (189 + i * 7.35).toFixed(2),
    })),
    vatRate: 5.5,
    currency: 'EUR',
    issueDate: '2026-11-22',
    validUntil: '2027-01-15',
    notes: 'Delivery six weeks after the order.',
  },
}
