//! Datagrams in trains and batches: the socket layer under XTP, which knows nothing of XTP
