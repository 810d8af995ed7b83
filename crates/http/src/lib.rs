//! The HTTP sampler: raw HTTP/1.1 connections owned by their virtual user.
