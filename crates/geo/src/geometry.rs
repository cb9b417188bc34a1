//! A geometry that was read or made.

use crate::crs::Crs;
use crate::error::GeoError;
use crate::validity;
use geo::{CoordsIter, Rect};
use std::borrow::Cow;
use std::sync::OnceLock;

/// A shape of any shapes.
pub(crate) fn collection(members: Vec<geo::Geometry>) -> geo::Geometry {
    geo::Geometry::GeometryCollection(geo::GeometryCollection(members))
}

/// What a geometry is called. Triangles and surfaces are polygons to all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A point, or the empty one.
    Point,
    /// A line of segments.
    LineString,
    /// A polygon.
    Polygon,
    /// A polygon of three corners.
    Triangle,
    /// Points.
    MultiPoint,
    /// Lines.
    MultiLineString,
    /// Polygons.
    MultiPolygon,
    /// Geometries of any kind.
    GeometryCollection,
    /// Triangles that share edges.
    Tin,
    /// Polygons that share edges.
    PolyhedralSurface,
}

impl Kind {
    /// The name of its class among simple features.
    pub fn class(self) -> &'static str {
        match self {
            Self::Point => "Point",
            Self::LineString => "LineString",
            Self::Polygon => "Polygon",
            Self::Triangle => "Triangle",
            Self::MultiPoint => "MultiPoint",
            Self::MultiLineString => "MultiLineString",
            Self::MultiPolygon => "MultiPolygon",
            Self::GeometryCollection => "GeometryCollection",
            Self::Tin => "TIN",
            Self::PolyhedralSurface => "PolyhedralSurface",
        }
    }

    /// That of a shape.
    pub(crate) fn of(shape: &geo::Geometry) -> Self {
        match shape {
            geo::Geometry::Point(_) => Self::Point,
            geo::Geometry::Line(_) | geo::Geometry::LineString(_) => Self::LineString,
            geo::Geometry::Polygon(_) | geo::Geometry::Rect(_) => Self::Polygon,
            geo::Geometry::Triangle(_) => Self::Triangle,
            geo::Geometry::MultiPoint(_) => Self::MultiPoint,
            geo::Geometry::MultiLineString(_) => Self::MultiLineString,
            geo::Geometry::MultiPolygon(_) => Self::MultiPolygon,
            geo::Geometry::GeometryCollection(_) => Self::GeometryCollection,
        }
    }
}

/// A geometry: a shape in the plane of a coordinate reference system, with what else its points have.
#[derive(Debug, Clone)]
pub struct Geometry {
    crs: Crs,
    kind: Kind,
    shape: geo::Geometry,
    /// Heights, in the order of the points.
    heights: Option<Vec<f64>>,
    /// Measures, in the order of the points.
    measures: Option<Vec<f64>>,
    points: usize,
    bounds: Option<Rect>,
    is_valid: OnceLock<bool>,
    is_simple: OnceLock<bool>,
}

/// The box of all points; none of an empty shape. That of the outer rings alone is not enough: a hole of an invalid area may lie outside, and measures count it.
pub(crate) fn bounds_of(shape: &geo::Geometry) -> Option<Rect> {
    let mut points = shape.coords_iter();
    let first = points.next()?;
    let (least, most) = points.fold((first, first), |(least, most), point| {
        let least = geo::coord! { x: least.x.min(point.x), y: least.y.min(point.y) };
        (least, geo::coord! { x: most.x.max(point.x), y: most.y.max(point.y) })
    });
    Some(Rect::new(least, most))
}

/// What is known, or found out now and known from then on. An error is not kept.
fn once(known: &OnceLock<bool>, find: impl FnOnce() -> Result<bool, GeoError>) -> Result<bool, GeoError> {
    match known.get() {
        Some(known) => Ok(*known),
        None => {
            let found = find()?;
            Ok(*known.get_or_init(|| found))
        }
    }
}

impl Geometry {
    /// One of these points. `heights` and `measures` have a number for each of them, where there are any.
    pub(crate) fn new(
        crs: Crs,
        kind: Kind,
        shape: geo::Geometry,
        heights: Option<Vec<f64>>,
        measures: Option<Vec<f64>>,
    ) -> Self {
        let (points, bounds) = (shape.coords_count(), bounds_of(&shape));
        let (is_valid, is_simple) = Default::default();
        Self { crs, kind, shape, heights, measures, points, bounds, is_valid, is_simple }
    }

    /// One that an operation made: without heights and measures.
    pub(crate) fn made(crs: &Crs, shape: geo::Geometry) -> Self {
        let kind = Kind::of(&shape);
        Self::new(crs.clone(), kind, shape, None, None)
    }

    /// Where its coordinates are.
    pub fn crs(&self) -> &Crs {
        &self.crs
    }

    /// What it is called.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its shape, with the easting or the longitude as `x`.
    pub fn shape(&self) -> &geo::Geometry {
        &self.shape
    }

    /// Heights, in the order of the points.
    pub fn heights(&self) -> Option<&[f64]> {
        self.heights.as_deref()
    }

    /// Measures, in the order of the points.
    pub fn measures(&self) -> Option<&[f64]> {
        self.measures.as_deref()
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// The box around it.
    pub fn bounds(&self) -> Option<Rect> {
        self.bounds
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        let numbers = 2 + usize::from(self.heights.is_some()) + usize::from(self.measures.is_some());
        size_of::<Self>() + self.points * numbers * size_of::<f64>() * 3 / 2
    }

    /// Whether rings and parts neither cross nor lack points, so that it has an interior and a boundary.
    ///
    /// # Errors
    ///
    /// Where to find that out takes too long.
    pub fn check_valid(&self) -> Result<(), GeoError> {
        let valid = once(&self.is_valid, || validity::is_valid(&self.shape))?;
        if valid { Ok(()) } else { Err(GeoError::Invalid) }
    }

    /// Whether its lines do not cross or touch themselves. Found out once.
    ///
    /// # Errors
    ///
    /// Where to find that out takes too long.
    pub(crate) fn is_simple(&self) -> Result<bool, GeoError> {
        once(&self.is_simple, || validity::is_simple(&self.shape))
    }

    /// Its shape in the coordinates of `crs`.
    ///
    /// # Errors
    ///
    /// Where there is no way there.
    pub(crate) fn shape_in(&self, crs: &Crs) -> Result<Cow<'_, geo::Geometry>, GeoError> {
        if self.crs.same_plane(crs) {
            return Ok(Cow::Borrowed(&self.shape));
        }
        Ok(Cow::Owned(self.crs.transform(crs, &self.shape)?))
    }

    /// The same place in the coordinates of `crs`. Heights stay as they are.
    ///
    /// # Errors
    ///
    /// Where there is no way there.
    pub fn transform(&self, crs: &Crs) -> Result<Self, GeoError> {
        let shape = self.shape_in(crs)?.into_owned();
        Ok(Self::new(crs.clone(), self.kind, shape, self.heights.clone(), self.measures.clone()))
    }
}
