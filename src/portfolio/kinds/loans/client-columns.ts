export const CLIENT_COLUMNS = [
  'client_firstname',
  'client_lastname',
  'client_mobile_no',
  'client_email_address',
  'client_activation_date',
]
