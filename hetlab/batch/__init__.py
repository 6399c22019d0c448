"""Grading a class: submissions in any layout become rows, reasons and pages."""
