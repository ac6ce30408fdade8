//! XTP packets as octets: parsing that borrows, encoding that never allocates
