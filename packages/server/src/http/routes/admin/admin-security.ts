/** An endpoint of operators, for its documentation: no wallet has the scope. */
export const adminSecurity = [{ bearer: [] }]
